/**
 * Jinja, as far as chat templates use it: the language of Python's Jinja2 3.1 in the environment in which Hugging Face's
 * transformers render them ({@code trim_blocks}, {@code lstrip_blocks}, loop controls, the immutable sandbox). Values are Python's
 * ({@link io.github.tornadotransformers.models.jinja.Values}), as templates print and compare them.
 *
 * <p>A template is code from outside. It reaches the values that it was given and the functions named here, and nothing else: there is no
 * reflection, no file, no clock but {@code strftime_now}; {@link io.github.tornadotransformers.models.jinja.Limits} bound its steps and
 * what it writes.
 *
 * <p>Java's own Jinja library, HubSpot's jinjava 2.8, was tried first: it rendered 30 of 170 conversations of 17 released models' templates
 * as transformers do. It has Java's strings, numbers and truth, evaluates methods by reflection, and brings 10 MB.
 *
 * <p>Left out, and refused by name: {@code include}, {@code import}, {@code extends}, recursive loops, HTML.
 *
 * <p>Source: the documentation of Jinja2 (jinja.palletsprojects.com), of Python's built-in types, and of transformers' chat templates.
 */
package io.github.tornadotransformers.models.jinja;
