/**
 * The library's door. {@link io.github.tornadotransformers.engine.LanguageModel} is a model in memory,
 * {@link io.github.tornadotransformers.engine.ModelFolder} one on disk,
 * {@link io.github.tornadotransformers.engine.EngineSettings} says what runs it, and
 * {@link io.github.tornadotransformers.engine.GenerationRequest} what it is to do. What lies below,
 * {@link io.github.tornadotransformers.engine.Engines} and its sessions, is for programs that look at engines themselves.
 *
 * <p>Errors have types: {@link io.github.tornadotransformers.models.InvalidRequest},
 * {@link io.github.tornadotransformers.models.CheckpointException} and
 * {@link io.github.tornadotransformers.models.EngineException} are a
 * {@link io.github.tornadotransformers.models.TransformersException}; anything else is a bug.
 */
package io.github.tornadotransformers.engine;
