/**
 * The cases under JMH: benchmarks of every Op on every engine, of every gradient, and of whole models. Each checks its result against the
 * scalar definition, bit for bit, before it is timed.
 */
package io.github.tornadotransformers.benchmarks.jmh;
