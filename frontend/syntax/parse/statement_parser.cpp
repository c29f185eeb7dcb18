#include "frontend/syntax/parse/statement_parser.h"

namespace tfl::parse {

void StopAtError::stop(antlr4::Parser* parser) {
  failure_.token = parser->getCurrentToken()->getTokenIndex();
  failure_.expected.reset();
  failure_.rules.clear();
  antlr4::misc::IntervalSet expected = parser->getExpectedTokens();
  for (const auto& interval : expected.getIntervals()) {
    for (ssize_t kind = interval.a; kind <= interval.b; ++kind) {
      // The end of the input is -1 for ANTLR and 0 for us.
      size_t bit = kind < 0 ? 0 : static_cast<size_t>(kind);
      if (bit < failure_.expected.size()) failure_.expected.set(bit);
    }
  }
  for (antlr4::RuleContext* c = parser->getContext(); c != nullptr; c = static_cast<antlr4::RuleContext*>(c->parent)) {
    failure_.rules.push_back(c->getRuleIndex());
  }
  throw antlr4::ParseCancellationException();
}

// The grammar is such that one token decides everything (its header says how), so there is nothing to predict and the two
// prediction modes of ANTLR cannot differ. SLL is named all the same: should a rule ever need prediction, it is the fast one.
StatementParser::StatementParser() : parser_(&tokens_) {
  parser_.removeErrorListeners();
  parser_.setErrorHandler(std::make_shared<StopAtError>(failure_));
  parser_.getInterpreter<antlr4::atn::ParserATNSimulator>()->setPredictionMode(antlr4::atn::PredictionMode::SLL);
}

template <class Context>
Context* StatementParser::parse(Context* (TflParser::*rule)()) {
  parser_.clear();
  try {
    return (parser_.*rule)();
  } catch (const antlr4::ParseCancellationException&) {
    return nullptr;
  }
}

TflParser::UnitContext* StatementParser::parse_unit() { return parse(&TflParser::unit); }
TflParser::Single_expressionContext* StatementParser::parse_expression() { return parse(&TflParser::single_expression); }

}  // namespace tfl::parse
