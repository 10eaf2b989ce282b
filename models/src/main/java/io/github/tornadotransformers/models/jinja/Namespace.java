package io.github.tornadotransformers.models.jinja;

import java.util.Map;

/** What {@code namespace()} makes: the one kind of value whose fields a template sets. */
record Namespace(Map<Object, Object> fields) {}
