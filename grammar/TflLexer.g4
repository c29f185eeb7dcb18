// The words of TFL. Two things are left to the layout stage (frontend/parse/layout.cpp), which reads this lexer's output:
// keywords, because telling them from names by a table keeps the lexer's automaton, and so its warm-up, small; and INDENT,
// DEDENT and the removal of line ends inside brackets, which are not regular.
//
// The lexer sees one character per byte: every byte of a character beyond ASCII arrives as U+0001, which counts as a letter.
// The layout stage checks that such letters may stand in a name. No input is an error here; what fits nothing is BAD_CHAR.
lexer grammar TflLexer;

tokens {
  INDENT, DEDENT, BAD_LINE, WITH_LPAREN, MATCH, CASE,
  AND, AS, ASSERT, ASYNC, AWAIT, BREAK, CLASS, CONTINUE, DEF, DEL, ELIF, ELSE, EXCEPT, FALSE, FINALLY, FOR, FROM, GLOBAL, IF,
  IMPORT, IN, IS, LAMBDA, NONE, NONLOCAL, NOT, OR, PASS, RAISE, RETURN, TRUE, TRY, WHILE, WITH, YIELD
}

NAME : [a-zA-Z_\u0001] [a-zA-Z_0-9\u0001]* ;

NUMBER
  : '0' [xX] ('_'? [0-9a-fA-F])+
  | '0' [oO] ('_'? [0-7])+
  | '0' [bB] ('_'? [01])+
  | ( DIGITS EXPONENT? | DIGITS '.' DIGITS? EXPONENT? | '.' DIGITS EXPONENT? ) [jJ]?
  ;
fragment DIGITS : [0-9] ('_'? [0-9])* ;
fragment EXPONENT : [eE] [+-]? DIGITS ;

// The bodies are written so that none of them can run over its own closing quotes: then "longest match" also decides between a
// string and its unterminated form, without a non-greedy loop.
STRING : PREFIX? ( '\'' SHORT_SINGLE* '\'' | '"' SHORT_DOUBLE* '"' | '\'\'\'' LONG_SINGLE* '\'\'\'' | '"""' LONG_DOUBLE* '"""' ) ;
UNTERMINATED_STRING : PREFIX? ( '\'' SHORT_SINGLE* | '"' SHORT_DOUBLE* ) '\\'? ;
UNTERMINATED_LONG_STRING
  : PREFIX? ( '\'\'\'' LONG_SINGLE* ('\'' '\''?)? | '"""' LONG_DOUBLE* ('"' '"'?)? ) '\\'?
  ;
fragment PREFIX : [bBfFrRuU] [bBfFrRuU]? ;
fragment ESCAPE : '\\' ('\r\n' | .) ;
fragment SHORT_SINGLE : ~['\\\r\n] | ESCAPE ;
fragment SHORT_DOUBLE : ~["\\\r\n] | ESCAPE ;
fragment LONG_SINGLE : ('\'' '\''?)? (~['\\] | ESCAPE) ;
fragment LONG_DOUBLE : ('"' '"'?)? (~["\\] | ESCAPE) ;

LPAREN : '(' ;
RPAREN : ')' ;
LBRACKET : '[' ;
RBRACKET : ']' ;
LBRACE : '{' ;
RBRACE : '}' ;
COMMA : ',' ;
COLON : ':' ;
SEMICOLON : ';' ;
DOT : '.' ;
ELLIPSIS : '...' ;
ARROW : '->' ;
ASSIGN : '=' ;
WALRUS : ':=' ;
AUG_ASSIGN : '+=' | '-=' | '*=' | '/=' | '//=' | '%=' | '**=' | '@=' | '&=' | '|=' | '^=' | '<<=' | '>>=' ;
PLUS : '+' ;
MINUS : '-' ;
STAR : '*' ;
DOUBLE_STAR : '**' ;
SLASH : '/' ;
DOUBLE_SLASH : '//' ;
PERCENT : '%' ;
AT : '@' ;
AMPERSAND : '&' ;
BAR : '|' ;
CARET : '^' ;
TILDE : '~' ;
LEFT_SHIFT : '<<' ;
RIGHT_SHIFT : '>>' ;
EQ : '==' ;
NE : '!=' ;
LT : '<' ;
LE : '<=' ;
GT : '>' ;
GE : '>=' ;

// Words of other languages, known only to be refused with a hint.
DOUBLE_AMPERSAND : '&&' ;
DOUBLE_BAR : '||' ;
BANG : '!' ;

NEWLINE : '\r\n' | '\r' | '\n' ;
// Dropped by lexer.cpp.
LINE_JOIN : '\\' ('\r\n' | '\r' | '\n') ;
SPACE : [ \t\f]+ ;
COMMENT : '#' ~[\r\n]* ;
BAD_CHAR : . ;
