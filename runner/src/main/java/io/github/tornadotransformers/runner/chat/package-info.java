/** A conversation at the keyboard, or through a pipe. */
package io.github.tornadotransformers.runner.chat;
