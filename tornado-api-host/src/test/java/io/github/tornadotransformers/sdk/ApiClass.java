package io.github.tornadotransformers.sdk;

import java.lang.classfile.AccessFlags;
import java.lang.classfile.Annotation;
import java.lang.classfile.AttributedElement;
import java.lang.classfile.Attributes;
import java.lang.classfile.ClassModel;
import java.lang.classfile.FieldModel;
import java.lang.classfile.MethodModel;
import java.lang.reflect.AccessFlag;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/** What a class file shows to code compiled against it, as lines of text. */
final class ApiClass {
    private static final Set<String> UNCHECKED = Set.of("java/lang/RuntimeException", "java/lang/Error");

    private final ClassModel model;
    private final Map<String, ApiClass> others;

    /**
     * Reads a class.
     *
     * @param others the classes of the same jar by internal name, for members that are inherited
     */
    ApiClass(ClassModel model, Map<String, ApiClass> others) {
        this.model = model;
        this.others = others;
    }

    String name() {
        return model.thisClass().asInternalName();
    }

    boolean isPublic() {
        return model.flags().has(AccessFlag.PUBLIC);
    }

    /** Kind, name, superclass and, of an annotation, where it may stand and how long it is kept. */
    String declaration() {
        String kind = model.flags().has(AccessFlag.ANNOTATION)
                ? "annotation"
                : model.flags().has(AccessFlag.INTERFACE)
                        ? "interface"
                        : model.flags().has(AccessFlag.ENUM) ? "enum" : "class";
        String parent = model.superclass().map(type -> type.asInternalName()).orElse("");
        return "%s %s extends %s%s".formatted(kind, name(), parent, meta());
    }

    private String meta() {
        return model.findAttribute(Attributes.runtimeVisibleAnnotations()).stream()
                .flatMap(attribute -> attribute.annotations().stream())
                .filter(annotation -> annotation.className().stringValue().startsWith("Ljava/lang/annotation/"))
                .map(Annotation::toString)
                .sorted()
                .collect(Collectors.joining(" ", " ", ""));
    }

    /** All interfaces of this class, by internal name, inherited ones too. */
    Set<String> interfaces() {
        Set<String> interfaces = model.interfaces().stream()
                .map(type -> type.asInternalName())
                .collect(Collectors.toCollection(TreeSet::new));
        supertypes().forEach(type -> interfaces.addAll(type.interfaces()));
        return interfaces;
    }

    boolean isFinal() {
        return model.flags().has(AccessFlag.FINAL);
    }

    /** Names of the enum's constants in order; empty for other classes. */
    List<String> constants() {
        return model.fields().stream()
                .filter(field -> field.flags().has(AccessFlag.ENUM))
                .map(field -> field.fieldName().stringValue())
                .toList();
    }

    /** Fields and methods of this class and what it inherits from classes of the same jar. */
    Set<String> members() {
        Set<String> members = ownMembers();
        supertypes()
                .forEach(type -> type.members().stream()
                        .filter(Predicate.not(member -> member.contains(" <init>(")))
                        .forEach(members::add));
        return members;
    }

    /** Fields and methods declared here and open to others, in a form that two jars can be compared by. */
    Set<String> ownMembers() {
        Set<String> members = new TreeSet<>();
        model.fields().stream()
                .filter(field -> isOpen(field.flags()))
                .map(this::describe)
                .forEach(members::add);
        model.methods().stream()
                .filter(method -> isOpen(method.flags()) && !method.flags().has(AccessFlag.SYNTHETIC))
                .map(this::describe)
                .forEach(members::add);
        return members;
    }

    private List<ApiClass> supertypes() {
        List<String> names = new java.util.ArrayList<>();
        model.superclass().ifPresent(type -> names.add(type.asInternalName()));
        model.interfaces().forEach(type -> names.add(type.asInternalName()));
        return names.stream()
                .map(others::get)
                .filter(java.util.Objects::nonNull)
                .toList();
    }

    private static boolean isOpen(AccessFlags flags) {
        return flags.has(AccessFlag.PUBLIC) || flags.has(AccessFlag.PROTECTED);
    }

    private String describe(FieldModel field) {
        String value = field.findAttribute(Attributes.constantValue())
                .map(constant -> " = " + constant.constant().constantValue())
                .orElse("");
        return "%s%s : %s%s"
                        .formatted(
                                modifiers(field.flags()),
                                field.fieldName().stringValue(),
                                field.fieldType().stringValue(),
                                value)
                + signature(field);
    }

    private String describe(MethodModel method) {
        String thrown = method.findAttribute(Attributes.exceptions()).stream()
                .flatMap(attribute -> attribute.exceptions().stream())
                .map(type -> type.asInternalName())
                .filter(this::isChecked)
                .sorted()
                .collect(Collectors.joining(" "));
        return "%s %s%s throws [%s]%s"
                .formatted(
                        modifiers(method.flags()).strip(),
                        method.methodName().stringValue(),
                        method.methodType().stringValue(),
                        thrown,
                        signature(method));
    }

    private boolean isChecked(String exception) {
        if (UNCHECKED.contains(exception)) {
            return false;
        }
        return Optional.ofNullable(others.get(exception))
                .flatMap(type -> type.model.superclass())
                .map(parent -> isChecked(parent.asInternalName()))
                .orElse(true);
    }

    private static String signature(AttributedElement element) {
        return element.findAttribute(Attributes.signature())
                .map(signature -> " generic " + signature.signature().stringValue())
                .orElse("");
    }

    private static String modifiers(AccessFlags flags) {
        return (flags.has(AccessFlag.PUBLIC) ? "public " : "protected ")
                + (flags.has(AccessFlag.STATIC) ? "static " : "");
    }
}
