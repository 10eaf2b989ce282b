/** What a GPU would take for a token, kernel by kernel, from what a model's tasks ask of it: a model of its time, and no measurement. */
package io.github.tornadotransformers.benchmarks.gpu;
