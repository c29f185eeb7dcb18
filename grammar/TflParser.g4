// The sentences of TFL: Python 3.11's grammar, arranged so that one token decides every choice. Then ANTLR predicts with a
// switch, no decision has to be learnt while parsing (no warm-up), and nothing backtracks.
//
// What that costs is settled later, in loops over flat lists, by the tree builder (frontend/parse/build_*.cpp):
//   - operators: `test` is operands and operators in a row; precedence is applied there. So a sum of a million terms is a flat
//     list here and a left spine there, with no recursion in between;
//   - commas: `x (COMMA x?)*` also accepts two commas in a row, which the builder refuses;
//   - targets, keyword names, the place of `*x`: parsed as expressions, checked there.
// Rules cost time and memory for each use, so what is used everywhere is written out in its place.
parser grammar TflParser;
options { tokenVocab = TflLexer; }

// Entry points: a statement of a file with all its clauses, and one expression as if in parentheses (of an f-string).
unit : statement+ EOF ;
single_expression : (yield_expression | items) EOF ;

statement
  : simple_line
  | if_statement
  | while_statement
  | for_statement
  | try_statement
  | with_statement
  | match_statement
  | function_definition
  | class_definition
  | async_statement
  | decorated
  | bad_statement
  ;

block : simple_line | NEWLINE INDENT statement+ DEDENT ;

// A line already reported: nothing more is said about it, but the block and the clauses that belong to it are still parsed.
bad_statement : BAD_LINE NEWLINE (INDENT (statement | case_block)+ DEDENT)? bad_clause* ;
bad_clause : (ELIF named_test | ELSE | EXCEPT STAR? (test (AS NAME)?)? | FINALLY) COLON block ;

// ---------------------------------------------------------------------------------------------------- simple statements

simple_line : small_statement (SEMICOLON small_statement?)* NEWLINE ;

small_statement
  : (yield_expression | expression_list)
    ( COLON test (ASSIGN (yield_expression | expression_list))?
    | AUG_ASSIGN (yield_expression | expression_list)
    | (ASSIGN (yield_expression | expression_list))+ )?
  | PASS
  | BREAK
  | CONTINUE
  | RETURN expression_list?
  | RAISE (test (FROM test)?)?
  | DEL target_list
  | ASSERT test (COMMA test)?
  | (GLOBAL | NONLOCAL) NAME (COMMA NAME)*
  | import_statement
  | from_statement
  ;

import_statement : IMPORT dotted_as (COMMA dotted_as)* ;
dotted_as : dotted_name (AS NAME)? ;
dotted_name : NAME (DOT NAME)* ;
from_statement : FROM (DOT | ELLIPSIS)* dotted_name? IMPORT (STAR | LPAREN imported_names RPAREN | imported_names) ;
imported_names : imported_name (COMMA imported_name?)* ;
imported_name : NAME (AS NAME)? ;

// -------------------------------------------------------------------------------------------------- compound statements

if_statement : IF named_test COLON block elif_clause* else_clause? ;
elif_clause : ELIF named_test COLON block ;
else_clause : ELSE COLON block ;
while_statement : WHILE named_test COLON block else_clause? ;
for_statement : FOR target_list IN expression_list COLON block else_clause? ;
try_statement : TRY COLON block except_clause* else_clause? finally_clause? ;
except_clause : EXCEPT STAR? (test (AS NAME)?)? COLON block ;
finally_clause : FINALLY COLON block ;

// WITH_LPAREN is the parenthesis that encloses all items; the layout stage has looked ahead to its partner.
with_statement : WITH (WITH_LPAREN with_item (COMMA with_item?)* RPAREN | with_item (COMMA with_item)*) COLON block ;
with_item : test (AS target)? ;

// MATCH and CASE are the names `match` and `case` where the layout stage has seen that they begin such a statement and its clauses.
match_statement : MATCH subject COLON NEWLINE INDENT (case_block | bad_statement)+ DEDENT ;
subject : (STAR sum | test (WALRUS test)?) (COMMA (STAR sum | test (WALRUS test)?)?)* ;
case_block : CASE patterns (IF named_test)? COLON block ;
patterns : (star_pattern | pattern) (COMMA (star_pattern | pattern)?)* ;
star_pattern : STAR NAME ;
pattern : closed_pattern (BAR closed_pattern)* (AS NAME)? ;
closed_pattern
  : (PLUS | MINUS)? NUMBER ((PLUS | MINUS) NUMBER)?
  | STRING+ | NONE | TRUE | FALSE
  | NAME (DOT NAME)* (LPAREN pattern_arguments? RPAREN)?
  | LPAREN patterns? RPAREN
  | LBRACKET patterns? RBRACKET
  | LBRACE mapping_patterns? RBRACE
  ;
pattern_arguments : pattern_argument (COMMA pattern_argument?)* ;
pattern_argument : pattern (ASSIGN pattern)? ;
mapping_patterns : mapping_pattern (COMMA mapping_pattern?)* ;
mapping_pattern : DOUBLE_STAR NAME | closed_pattern COLON pattern ;

function_definition : DEF NAME LPAREN parameters? RPAREN (ARROW test)? COLON block ;
parameters : parameter (COMMA parameter?)* ;
parameter
  : NAME (COLON test)? (ASSIGN test)?
  | STAR (NAME (COLON starred_test)?)?
  | DOUBLE_STAR NAME (COLON test)?
  | SLASH
  ;
starred_test : STAR? test ;

async_statement : ASYNC (function_definition | for_statement | with_statement) ;

class_definition : CLASS NAME (LPAREN arguments? RPAREN)? COLON block ;
decorated : decorator+ (ASYNC? function_definition | class_definition) ;
decorator : AT named_test NEWLINE ;

// ----------------------------------------------------------------------------------------------------------- expressions

// Targets of `for`, `del`, `with` and comprehensions: everything that binds tighter than a comparison, so that `in` ends it.
target_list : target (COMMA target?)* ;
target : STAR? sum ;

yield_expression : YIELD (FROM test | expression_list)? ;
expression_list : (STAR sum | test) (COMMA (STAR sum | test)?)* ;

named_test : test (WALRUS test)? ;

// NOT IN is two tokens here; IS NOT is IS followed by an operand that begins with NOT, and the builder joins them. The row of
// operands stands here as well as in `disjunction`, to save the commonest expressions a node.
test
  : (NOT | PLUS | MINUS | TILDE)* primary
    ( ( OR | AND | IN | NOT IN | IS | EQ | NE | LT | LE | GT | GE | BAR | CARET | AMPERSAND | LEFT_SHIFT | RIGHT_SHIFT | PLUS
      | MINUS | STAR | SLASH | DOUBLE_SLASH | PERCENT | AT | DOUBLE_STAR )
      (NOT | PLUS | MINUS | TILDE)* primary )*
    (IF disjunction ELSE test)?
  | LAMBDA lambda_parameters? COLON test
  ;
lambda_parameters : lambda_parameter (COMMA lambda_parameter?)* ;
lambda_parameter : NAME (ASSIGN test)? | STAR NAME? | DOUBLE_STAR NAME | SLASH ;

disjunction
  : (NOT | PLUS | MINUS | TILDE)* primary
    ( ( OR | AND | IN | NOT IN | IS | EQ | NE | LT | LE | GT | GE | BAR | CARET | AMPERSAND | LEFT_SHIFT | RIGHT_SHIFT | PLUS
      | MINUS | STAR | SLASH | DOUBLE_SLASH | PERCENT | AT | DOUBLE_STAR )
      (NOT | PLUS | MINUS | TILDE)* primary )*
  ;
sum
  : (PLUS | MINUS | TILDE)* primary
    ( ( BAR | CARET | AMPERSAND | LEFT_SHIFT | RIGHT_SHIFT | PLUS | MINUS | STAR | SLASH | DOUBLE_SLASH | PERCENT | AT
      | DOUBLE_STAR )
      (PLUS | MINUS | TILDE)* primary )*
  ;

primary
  : AWAIT?
    ( NAME | NUMBER | STRING+ | NONE | TRUE | FALSE | ELLIPSIS
    | LPAREN (yield_expression | items)? RPAREN
    | LBRACKET items? RBRACKET
    | LBRACE brace_items? RBRACE )
    (DOT NAME | LPAREN arguments? RPAREN | LBRACKET subscripts RBRACKET)*
  ;

items
  : (STAR sum | test (WALRUS test)?)
    (comprehension_for+ | (COMMA (STAR sum | test (WALRUS test)?)?)*)
  ;
brace_items
  : (DOUBLE_STAR sum | STAR sum | test (WALRUS test)? (COLON test)?)
    (comprehension_for+ | (COMMA (DOUBLE_STAR sum | STAR sum | test (WALRUS test)? (COLON test)?)?)*)
  ;
comprehension_for : ASYNC? FOR target_list IN disjunction (IF disjunction)* ;

arguments : argument (COMMA argument?)* ;
argument : STAR test | DOUBLE_STAR test | test (WALRUS test)? (ASSIGN test | comprehension_for+)? ;

subscripts : subscript (COMMA subscript?)* ;
subscript : STAR sum | test (WALRUS test)? (COLON test? slice_step?)? | COLON test? slice_step? ;
slice_step : COLON test? ;
