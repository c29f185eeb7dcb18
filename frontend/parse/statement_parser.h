// Runs the generated parser on the tokens of one statement or one expression. Included by the parser's driver and the tree builder
// only, because it includes ANTLR.
// This header must not know about logical lines or the syntax tree.
#pragma once

#include "TflParser.h"
#include "frontend/parse/token_stream.h"

namespace tfl::parse {

class StatementParser {
 public:
  StatementParser();
  StatementTokens& tokens() { return tokens_; }
  /// The parse tree, valid until the next call; nullptr when the tokens are no sentence (see failure()).
  TflParser::UnitContext* parse_unit();
  TflParser::Single_expressionContext* parse_expression();
  const SyntaxFailure& failure() const { return failure_; }

 private:
  template <class Context>
  Context* parse(Context* (TflParser::*rule)());
  StatementTokens tokens_;
  SyntaxFailure failure_;
  TflParser parser_;
};

}  // namespace tfl::parse
