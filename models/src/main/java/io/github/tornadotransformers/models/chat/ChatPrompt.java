package io.github.tornadotransformers.models.chat;

/**
 * A conversation, written down.
 *
 * @param text as the template renders it
 * @param ids of its tokens, in which special tokens are those that the template wrote, and none that a message spells
 */
public record ChatPrompt(String text, int[] ids) {}
