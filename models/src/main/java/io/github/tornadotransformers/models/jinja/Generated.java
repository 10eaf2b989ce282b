package io.github.tornadotransformers.models.jinja;

import java.util.List;

/** What {@code map}, {@code select} and their like give: it can be run through, and is true even where it is empty. */
record Generated(List<Object> elements) {}
