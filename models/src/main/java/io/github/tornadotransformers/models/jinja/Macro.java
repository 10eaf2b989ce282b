package io.github.tornadotransformers.models.jinja;

/** A macro, with the scope that it was defined in. */
record Macro(Statement.MacroText text, Scope around, Rendering rendering) implements Function {
    String name() {
        return text.name();
    }

    @Override
    public Object call(Arguments arguments) {
        return rendering.macro(this, arguments);
    }
}
