package io.github.tornadotransformers.runner.chat;

import io.github.tornadotransformers.models.chat.ChatOptions;
import io.github.tornadotransformers.models.chat.ChatTemplate;
import io.github.tornadotransformers.models.generation.SamplingOptions;
import java.util.OptionalInt;

/**
 * How questions are answered.
 *
 * @param tokens of an answer at most; empty: as the context has room
 */
public record ChatSettings(ChatTemplate template, ChatOptions options, SamplingOptions sampling, OptionalInt tokens) {}
