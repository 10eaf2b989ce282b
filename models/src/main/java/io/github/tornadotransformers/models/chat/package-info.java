/** Conversations, and the templates by which a model's makers write them down as the text that it was trained on. */
package io.github.tornadotransformers.models.chat;
