package io.github.tornadotransformers.models.jinja;

/** What a name, an attribute or an item is that is not there: false, empty, printed as nothing, and an error where it is used otherwise. */
record Undefined(String described) {
    static Undefined name(String name) {
        return new Undefined("'" + name + "' is undefined");
    }

    static Undefined member(Object object, Object key) {
        return new Undefined(Values.typeName(object) + " has no " + Values.repr(key));
    }

    TemplateException failure() {
        return new TemplateException(described);
    }

    /** All that are undefined are equal. */
    @Override
    public boolean equals(Object other) {
        return other instanceof Undefined;
    }

    @Override
    public int hashCode() {
        return 0;
    }
}
