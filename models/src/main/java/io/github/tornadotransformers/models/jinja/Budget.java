package io.github.tornadotransformers.models.jinja;

/** What is left of a rendering's {@link Limits}, and how deeply its macros call each other. */
final class Budget {
    private static final int DEEPEST_CALL = 64;

    private long steps;
    private long characters;
    private int calls;

    Budget(Limits limits) {
        steps = limits.steps();
        characters = limits.characters();
    }

    void step() {
        if (--steps < 0) {
            throw new TemplateException("the template takes too many steps");
        }
    }

    /** To be asked before a string of that many characters is made, or a list of that many elements. */
    void make(long count) {
        characters -= count;
        if (characters < 0 || count > Integer.MAX_VALUE) {
            throw new TemplateException("the template makes too much text");
        }
    }

    void enterCall() {
        if (++calls > DEEPEST_CALL) {
            throw new TemplateException("the template's macros call each other too deeply");
        }
    }

    void leaveCall() {
        calls--;
    }
}
