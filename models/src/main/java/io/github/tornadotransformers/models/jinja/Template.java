package io.github.tornadotransformers.models.jinja;

import java.time.InstantSource;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A template that was read once and can be rendered often, by several threads. */
public final class Template {
    private static final long LONGEST_RANGE = 100_000;
    /** An element of a list, in characters. */
    private static final int ELEMENT = 8;

    private final List<Statement> statements;

    private Template(List<Statement> statements) {
        this.statements = statements;
    }

    /** @throws TemplateException if it is no template, or uses what is not implemented */
    public static Template parse(String source) {
        return new Template(Parser.parse(source));
    }

    /**
     * The template's text.
     *
     * @param variables by name: null, {@code Boolean}, {@code Long}, {@code Double}, {@code String}, and {@code List} and {@code Map} of these,
     *     which are not changed
     * @param clock for {@code strftime_now}
     * @throws TemplateException if the template fails, refuses the values, or goes beyond the limits
     */
    public String render(Map<String, ?> variables, InstantSource clock, Limits limits) {
        Budget budget = new Budget(limits);
        Scope globals = new Scope(null);
        globals.set("range", (Function) arguments -> range(arguments, budget));
        globals.set("namespace", (Function) arguments -> new Namespace(dict(arguments)));
        globals.set("dict", (Function) Template::dict);
        globals.set("raise_exception", (Function) arguments -> {
            throw TemplateException.raised(Values.text(arguments.require(0, "message")));
        });
        globals.set("strftime_now", (Function) arguments -> DateFormats.format(
                Values.string(arguments.require(0, "format")), clock.instant().atZone(ZoneId.systemDefault())));
        variables.forEach(globals::set);
        try {
            return new Rendering(budget, globals).run(statements);
        } catch (StackOverflowError e) {
            throw new TemplateException("the template is nested too deeply");
        }
    }

    private static Object range(Arguments arguments, Budget budget) {
        arguments.requireAtMost(3);
        boolean one = arguments.positional().size() == 1;
        long from = one ? 0 : Values.integer(arguments.require(0, "start"));
        long to = Values.integer(arguments.require(one ? 0 : 1, "stop"));
        long step = Values.integer(arguments.get(2, "step", 1L));
        if (step == 0) {
            throw new TemplateException("range's step is 0");
        }
        List<Object> numbers = new ArrayList<>();
        for (long i = from; step > 0 ? i < to : i > to; i += step) {
            if (numbers.size() == LONGEST_RANGE) {
                throw new TemplateException("a range has more than " + LONGEST_RANGE + " numbers");
            }
            numbers.add(i);
        }
        budget.make((long) numbers.size() * ELEMENT);
        return numbers;
    }

    private static Map<Object, Object> dict(Arguments arguments) {
        Map<Object, Object> map = new LinkedHashMap<>();
        for (Object given : arguments.positional()) {
            if (given instanceof Map<?, ?> other) {
                map.putAll(other);
            } else {
                for (Object pair : Values.elements(given)) {
                    List<Object> both = Values.elements(pair);
                    if (both.size() != 2) {
                        throw new TemplateException("a dict is made of pairs");
                    }
                    map.put(Values.key(both.get(0)), both.get(1));
                }
            }
        }
        map.putAll(arguments.named());
        return map;
    }
}
