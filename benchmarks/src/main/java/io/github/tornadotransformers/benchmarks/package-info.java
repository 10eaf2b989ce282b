/**
 * How fast models and their Ops run, and how far that is from what the machine can do: the measured read bandwidth and the
 * measured peak of fused products and sums.
 */
package io.github.tornadotransformers.benchmarks;
