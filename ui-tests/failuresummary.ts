import type {
  FullConfig,
  Reporter,
  Suite,
  TestCase,
  TestResult
} from '@playwright/test/reporter';
import { stripVTControlCharacters } from 'util';

/**
 * Says at the very end why each test failed, in a few lines: of a long log one
 * may see only the end.
 */
export default class FailureSummary implements Reporter {
  onBegin(_config: FullConfig, suite: Suite): void {
    this._suite = suite;
  }

  onEnd(): void {
    for (const test of this._suite?.allTests() ?? []) {
      if (test.outcome() === 'unexpected') {
        test.results.forEach(result => this._print(test, result));
      }
    }
  }

  private _print(test: TestCase, { errors }: TestResult): void {
    for (const { message, location, snippet } of errors) {
      const lines = [message, snippet].map(text =>
        stripVTControlCharacters(text ?? '')
          .split('\n')
          .filter(line => line.trim())
          .slice(0, 12)
          .join('\n  ')
      );
      const place = `${test.location.file}:${location?.line ?? test.location.line}`;
      process.stdout.write(`${place}\n  ${lines.join('\n  ')}\n`);
    }
  }

  private _suite: Suite | null = null;
}
