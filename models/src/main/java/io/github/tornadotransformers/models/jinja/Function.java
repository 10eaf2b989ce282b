package io.github.tornadotransformers.models.jinja;

/** What can be called. */
@FunctionalInterface
interface Function {
    Object call(Arguments arguments);
}
