"""The words of the two languages, as tables."""

from __future__ import annotations

from types import MappingProxyType

FEEL_WORDS = frozenset(
    {"if", "then", "else", "for", "in", "return", "some", "every", "satisfies", "and", "or", "between", "instance"}
    | {"function", "true", "false", "null"}
)
"""Words that are no names in FEEL (DMN 1.5, 10.3.1.2). `of` and `external` are words only where the grammar asks for
them.
"""

FEEL_CONSTANTS = MappingProxyType({"true": True, "false": False, "null": None})

FEEL_NAMES_WITH_WORDS = (
    "date and time",
    "days and time duration",
    "years and months duration",
    "get or else",
)
"""Names of functions and types that hold a word of the language: read as one name wherever they stand."""

FEEL_BUILTINS = frozenset(
    "|".join(
        (
            "date|time|date and time|number|string|duration|years and months duration|context|range|not|is",
            "substring|string length|upper case|lower case|substring before|substring after|replace",
            "contains|starts with|ends with|matches|split|string join|extract|trim|string format|uuid",
            "to base64|from base64|is blank",
            "list contains|count|min|max|sum|mean|all|any|sublist|append|concatenate|insert before|remove|reverse",
            "index of|union|distinct values|flatten|product|median|stddev|mode|sort|list replace|duplicate values",
            "partition|is empty",
            "decimal|floor|ceiling|round up|round down|round half up|round half down|abs|modulo|sqrt|log|exp|odd|even",
            "random number",
            "before|after|meets|met by|overlaps|overlaps before|overlaps after|finishes|finished by|includes|during",
            "starts|started by|coincides",
            "day of year|day of week|month of year|week of year|last day of month|now|today",
            "get value|get entries|context put|context merge|put|put all",
            "is defined|get or else|assert|error|cycle",
        )
    ).split("|")
)
"""Functions of DMN 1.5 (10.3.4) and of Camunda: called by one of these names, the name is no variable."""

FEEL_CHANGING = frozenset({"now", "today", "random number", "uuid"})
"""Built-in functions that may give something else each time."""

JUEL_SIGNS = MappingProxyType(
    {
        "and": "&&",
        "or": "||",
        "not": "!",
        "eq": "==",
        "ne": "!=",
        "lt": "<",
        "gt": ">",
        "le": "<=",
        "ge": ">=",
        "div": "/",
        "mod": "%",
    }
)
"""Words of EL 2.2 (1.17) that are operators, with the sign they stand for."""

JUEL_CONSTANTS = MappingProxyType({"true": True, "false": False, "null": None})

JUEL_HOST_OBJECTS = frozenset({"execution", "task", "caseExecution", "authenticatedUserId", "delegateExecution"})
"""Names that are never variables: Camunda asks its own objects before the variables."""

VARIABLE_PREFIXES = frozenset({"vars", "var", "variables"})
"""Flowable's `vars:get(name)`: functions whose first argument is the name of a variable, quoted or not."""

READING_METHODS = frozenset(
    {"getVariable", "getVariableLocal", "getVariableTyped", "getVariableLocalTyped", "hasVariable", "hasVariableLocal"}
)
"""Methods of `execution` and `task` whose first argument names the variable that is read."""

SCANNING_METHODS = frozenset(
    {
        "getVariables",
        "getVariablesLocal",
        "getVariableNames",
        "getVariableNamesLocal",
        "hasVariables",
        "hasVariablesLocal",
    }
)
"""Methods that look at all variables there are."""

SCANNING_MEMBERS = frozenset({"variables", "variablesLocal", "variableNames", "variableNamesLocal"})
"""The same, read as properties."""

WRITING_METHODS = frozenset({"setVariable", "setVariableLocal", "removeVariable", "removeVariableLocal"})
"""Methods that change a variable."""
