package io.github.tornadotransformers.emulator;

import java.lang.reflect.Method;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.InvocationInterceptor;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.junit.jupiter.api.extension.ReflectiveInvocationContext;

/** What {@link OnEmulator} promises. */
final class OnEmulatorExtension implements ExecutionCondition, InvocationInterceptor, ParameterResolver {
    private static final ExtensionContext.Namespace NAMESPACE =
            ExtensionContext.Namespace.create(OnEmulatorExtension.class);

    @Override
    public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
        return Emulator.isAvailable()
                ? ConditionEvaluationResult.enabled("the stand-in is on the class path")
                : ConditionEvaluationResult.disabled("the real TornadoVM is on the class path, which has no emulator");
    }

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
        return parameter.getParameter().getType() == EmulatedDevice.class;
    }

    @Override
    public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
        return device(context);
    }

    private static EmulatedDevice device(ExtensionContext context) {
        return context.getStore(NAMESPACE)
                .computeIfAbsent(EmulatedDevice.class, _ -> new EmulatedDevice(), EmulatedDevice.class);
    }

    private static void emulate(InvocationInterceptor.Invocation<Void> invocation, ExtensionContext context)
            throws Throwable {
        Emulator.call(device(context), invocation::proceed);
    }

    @Override
    public void interceptTestMethod(
            Invocation<Void> invocation, ReflectiveInvocationContext<Method> method, ExtensionContext context)
            throws Throwable {
        emulate(invocation, context);
    }

    @Override
    public void interceptTestTemplateMethod(
            Invocation<Void> invocation, ReflectiveInvocationContext<Method> method, ExtensionContext context)
            throws Throwable {
        emulate(invocation, context);
    }

    @Override
    public void interceptBeforeEachMethod(
            Invocation<Void> invocation, ReflectiveInvocationContext<Method> method, ExtensionContext context)
            throws Throwable {
        emulate(invocation, context);
    }

    @Override
    public void interceptAfterEachMethod(
            Invocation<Void> invocation, ReflectiveInvocationContext<Method> method, ExtensionContext context)
            throws Throwable {
        emulate(invocation, context);
    }
}
