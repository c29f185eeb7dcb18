// What other libraries and older versions call an argument.
#include <algorithm>

#include "frontend/syntax/diagnostics/suggest.h"

namespace tfl {
namespace {

struct Habit {
  std::string_view written, meant;
};

constexpr Habit kHabits[] = {
    {"dim", "axis"},
    {"dims", "axis"},
    {"dimension", "axis"},
    {"axes", "axis"},
    {"axes", "perm"},
    {"dims", "perm"},
    {"reduction_indices", "axis"},
    {"concat_dim", "axis"},
    {"split_dim", "axis"},
    {"squeeze_dims", "axis"},
    {"axis", "dim"},
    {"keep_dims", "keepdims"},
    {"keepdim", "keepdims"},
    {"size", "shape"},
    {"shape", "size"},
    {"low", "minval"},
    {"min", "minval"},
    {"high", "maxval"},
    {"max", "maxval"},
    {"min", "clip_value_min"},
    {"max", "clip_value_max"},
    {"std", "stddev"},
    {"scale", "stddev"},
    {"loc", "mean"},
    {"type", "dtype"},
    {"start", "begin"},
    {"lr", "learning_rate"},
    {"nb_epoch", "epochs"},
    {"n_epochs", "epochs"},
    {"num_epochs", "epochs"},
    {"batch", "batch_size"},
    {"val_data", "validation_data"},
    {"val_split", "validation_split"},
    {"border_mode", "padding"},
    {"subsample", "strides"},
    {"stride", "strides"},
    {"nb_filter", "filters"},
    {"out_channels", "filters"},
    {"kernel", "kernel_size"},
    {"ksize", "pool_size"},
    {"pool_size", "ksize"},
    {"output_dim", "units"},
    {"out_features", "units"},
    {"hidden_size", "units"},
    {"num_units", "units"},
    {"init", "kernel_initializer"},
    {"W_regularizer", "kernel_regularizer"},
    {"bias", "use_bias"},
    {"p", "rate"},
    {"prob", "rate"},
    {"train", "training"},
    {"is_training", "training"},
    {"num_embeddings", "input_dim"},
    {"embedding_dim", "output_dim"},
    {"input_size", "input_shape"},
    {"num_workers", "workers"},
    {"transpose_x", "transpose_a"},
    {"transpose_y", "transpose_b"},
    {"indices", "axis"},
    {"other", "y"},
};

}  // namespace

std::string_view suggest_keyword(std::string_view name, const std::vector<std::string_view>& known) {
  for (const Habit& h : kHabits) {
    if (h.written != name) continue;
    auto found = std::find(known.begin(), known.end(), h.meant);
    if (found != known.end()) return *found;
  }
  return suggest(name, known);
}

}  // namespace tfl
