"""What an operator may do, a module a verb; each calls the engine and says what happened."""
