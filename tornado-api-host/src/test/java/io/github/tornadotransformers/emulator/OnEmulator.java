package io.github.tornadotransformers.emulator;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Runs each test of a class, and its {@code @BeforeEach} and {@code @AfterEach} methods, inside the emulator, on an {@link
 * EmulatedDevice} of its own; a parameter of that type receives it. Where the class path holds the real TornadoVM instead of the
 * stand-in, the tests are skipped.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(OnEmulatorExtension.class)
public @interface OnEmulator {}
