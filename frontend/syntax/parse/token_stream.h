// The tokens of one statement as ANTLR wants them, and what is known when parsing them fails. Included by the parser's driver and
// the tree builder only, because it includes ANTLR.
// This header must not know about logical lines or the syntax tree.
#pragma once

#include <antlr4-runtime.h>

#include <bitset>
#include <string>
#include <typeinfo>
#include <utility>
#include <vector>

#include "frontend/syntax/parse/token.h"

namespace tfl::parse {

/// A token in ANTLR's clothes. `index` is its place in the stream.
class StreamToken final : public antlr4::Token {
 public:
  StreamToken(const tfl::parse::Token& token, size_t index)
      : token(token),
        type(token.kind == TokenKind::EndOfFile ? antlr4::Token::EOF : static_cast<size_t>(token.kind)),
        index(static_cast<uint32_t>(index)) {}
  std::string getText() const override { return {}; }
  size_t getType() const override { return type; }
  size_t getLine() const override { return token.line; }
  size_t getCharPositionInLine() const override { return token.column; }
  size_t getChannel() const override { return 0; }
  size_t getTokenIndex() const override { return index; }
  size_t getStartIndex() const override { return token.begin; }
  size_t getStopIndex() const override { return token.end; }
  antlr4::TokenSource* getTokenSource() const override { return nullptr; }
  antlr4::CharStream* getInputStream() const override { return nullptr; }
  std::string toString() const override { return {}; }

  tfl::parse::Token token;
  size_t type;
  uint32_t index;
};

/// A leaf of the parse tree.
class TokenNode final : public antlr4::tree::TerminalNode {
 public:
  explicit TokenNode(StreamToken* token) : token(token) {}
  antlr4::Token* getSymbol() override { return token; }
  void setParent(antlr4::RuleContext*) override {}
  std::string toStringTree(bool) override { return {}; }
  std::string toString() override { return {}; }
  std::string toStringTree(antlr4::Parser*, bool) override { return {}; }
  antlrcpp::Any accept(antlr4::tree::ParseTreeVisitor*) override { return {}; }
  std::string getText() override { return {}; }
  antlr4::misc::Interval getSourceInterval() override { return {}; }

  StreamToken* token;
};

inline bool is_token_node(const antlr4::tree::ParseTree* node) {
  // One program holds one name for each type, so comparing the pointers will do.
  return typeid(*node).name() == typeid(TokenNode).name();
}

/// A stream over tokens that are all there already; the last one is EndOfFile.
class StatementTokens final : public antlr4::TokenStream {
 public:
  void clear() {
    tokens_.clear();
    at_ = 0;
  }
  void push(const tfl::parse::Token& token) { tokens_.emplace_back(token, tokens_.size()); }
  StreamToken* current() { return &tokens_[at_]; }

  antlr4::Token* LT(ssize_t k) override { return &tokens_[place(k)]; }
  size_t LA(ssize_t k) override { return tokens_[place(k)].type; }
  antlr4::Token* get(size_t index) const override { return const_cast<StreamToken*>(&tokens_[index]); }
  void consume() override {
    if (at_ + 1 < tokens_.size()) ++at_;
  }
  ssize_t mark() override { return 0; }
  void release(ssize_t) override {}
  size_t index() override { return at_; }
  void seek(size_t index) override { at_ = index; }
  size_t size() override { return tokens_.size(); }
  antlr4::TokenSource* getTokenSource() const override { return nullptr; }
  std::string getSourceName() const override { return {}; }
  std::string getText(const antlr4::misc::Interval&) override { return {}; }
  std::string getText() override { return {}; }
  std::string getText(antlr4::RuleContext*) override { return {}; }
  std::string getText(antlr4::Token*, antlr4::Token*) override { return {}; }

 private:
  size_t place(ssize_t k) const {
    size_t index = at_ + static_cast<size_t>(k) - (k > 0 ? 1 : 0);
    return index < tokens_.size() ? index : tokens_.size() - 1;
  }
  std::vector<StreamToken> tokens_;
  size_t at_ = 0;
};

/// Where and how a parse stopped.
struct SyntaxFailure {
  size_t token = 0;           // index in the stream
  std::bitset<128> expected;  // kinds that would have been right there
  std::vector<size_t> rules;  // the grammar's rules that were being parsed, innermost first
  bool expects(TokenKind kind) const { return expected.test(static_cast<size_t>(kind)); }
};

/// Stops at the first error and keeps what is known about it: recovery happens between statements and lines, not inside.
class StopAtError final : public antlr4::DefaultErrorStrategy {
 public:
  explicit StopAtError(SyntaxFailure& failure) : failure_(failure) {}
  void recover(antlr4::Parser* parser, std::exception_ptr) override { stop(parser); }
  antlr4::Token* recoverInline(antlr4::Parser* parser) override {
    stop(parser);
    return nullptr;
  }
  void reset(antlr4::Parser*) override {}
  void sync(antlr4::Parser*) override {}
  void reportMatch(antlr4::Parser*) override {}
  void reportError(antlr4::Parser*, const antlr4::RecognitionException&) override {}
  bool inErrorRecoveryMode(antlr4::Parser*) override { return false; }

 private:
  void stop(antlr4::Parser* parser);
  SyntaxFailure& failure_;
};

}  // namespace tfl::parse
