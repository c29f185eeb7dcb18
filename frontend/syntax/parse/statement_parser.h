// Runs the generated parser on the tokens of one statement or one expression. Included by the parser's driver and the tree builder
// only, because it includes ANTLR.
// This header must not know about logical lines or the syntax tree.
#pragma once

#include <deque>

#include "TflParser.h"
#include "frontend/syntax/parse/token_stream.h"

namespace tfl::parse {

/// The generated parser with the parts of ANTLR's that are called for every token and every rule made lean: no listeners, no node
/// allocated by itself for a token.
class LeanParser final : public TflParser {
 public:
  explicit LeanParser(StatementTokens* tokens) : TflParser(tokens), tokens_(tokens) {}
  void clear() {
    reset();
    leaves_.clear();
  }
  antlr4::Token* getCurrentToken() override { return tokens_->current(); }
  antlr4::Token* match(size_t type) override {
    if (tokens_->current()->type == type) return LeanParser::consume();
    return _errHandler->recoverInline(this);
  }
  antlr4::Token* consume() override {
    StreamToken* token = tokens_->current();
    tokens_->consume();
    _ctx->children.push_back(&leaves_.emplace_back(token));
    return token;
  }
  void enterRule(antlr4::ParserRuleContext* context, size_t state, size_t) override {
    setState(state);
    _ctx = context;
    context->start = tokens_->current();
    if (context->parent != nullptr) context->parent->children.push_back(context);
  }
  void enterOuterAlt(antlr4::ParserRuleContext*, size_t) override {}

 private:
  StatementTokens* tokens_;
  std::deque<TokenNode> leaves_;
};

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
  LeanParser parser_;
};

}  // namespace tfl::parse
