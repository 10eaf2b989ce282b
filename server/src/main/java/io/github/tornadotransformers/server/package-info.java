/**
 * OpenAI's protocol over HTTP. {@link io.github.tornadotransformers.server.ModelServer} is the door. Each model has a thread that runs the
 * {@linkplain io.github.tornadotransformers.models.batching.Scheduler scheduler} ({@code ModelWorker}); each request a virtual thread that waits
 * for its answers and writes them. No answer depends on what else is asked.
 *
 * <p>Source of the protocol: OpenAI's API reference; of {@code /tokenize} and {@code /detokenize}: vLLM's.
 */
package io.github.tornadotransformers.server;
