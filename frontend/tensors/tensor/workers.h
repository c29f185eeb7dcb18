// The other workers of an MPI job, and replicas: what the end of a script and random draws ask of them.
#pragma once

#include <string>

#include "frontend/core/interp.h"
#include "frontend/core/random_streams.h"

namespace tfl {

/// Tells the other workers that this one's script failed; the run ends there, with this text told once. It returns where there are no others.
void tell_workers(const std::string& text, int code);
/// The end of a script: waits for the other workers. What is wrong, as text; empty where nothing is.
std::string leave_workers();

/// The streams of the replica that the script runs in, or those of the script.
RandomStreams& random_streams(Interp& interp);
/// Those of a replica by its number.
RandomStreams& random_streams_of(Interp& interp, int replica);
/// The replica that the script runs in, -1 for none.
int current_replica(Interp& interp);
/// tf.random.set_seed: all replicas begin anew.
void forget_replica_streams(Interp& interp);

}  // namespace tfl
