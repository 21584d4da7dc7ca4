import * as React from 'react';

import { usePanel } from './services';

/**
 * A part of the panel that may break without taking the others with it: then it
 * says what could not be shown, and offers to try again.
 */
export function ErrorBoundary({
  says,
  text,
  version,
  children
}: {
  /**
   * The sentence that says what could not be shown.
   */
  readonly says: string;

  /**
   * What is within, as it is, so that it can be read nevertheless.
   */
  readonly text?: string;

  /**
   * When this is another one, what broke is tried again by itself.
   */
  readonly version?: unknown;
  readonly children: React.ReactNode;
}): JSX.Element {
  const { trans } = usePanel();
  const explain = (problem: Error, tryAgain: () => void) => (
    <div className="jp-hdspAgent-broken" role="alert">
      <p>{says}</p>
      <button type="button" className="jp-hdspAgent-button" onClick={tryAgain}>
        {trans.__('Try again')}
      </button>
      <details>
        <summary>{trans.__('Details')}</summary>
        <pre tabIndex={0}>
          {[problem.message, text].filter(Boolean).join('\n\n')}
        </pre>
      </details>
    </div>
  );
  return (
    <Private.Catcher explain={explain} says={says} version={version}>
      {children}
    </Private.Catcher>
  );
}

/**
 * A namespace for private data.
 */
namespace Private {
  interface ICatcherProps {
    readonly says: string;
    readonly version: unknown;
    readonly explain: (problem: Error, tryAgain: () => void) => JSX.Element;
    readonly children: React.ReactNode;
  }

  interface ICatcherState {
    readonly problem: Error | null;
    readonly version: unknown;
  }

  /**
   * React tells only classes of what breaks within them.
   */
  export class Catcher extends React.Component<ICatcherProps, ICatcherState> {
    static getDerivedStateFromError(reason: unknown): Partial<ICatcherState> {
      return {
        problem: reason instanceof Error ? reason : new Error(String(reason))
      };
    }

    static getDerivedStateFromProps(
      { version }: ICatcherProps,
      before: ICatcherState
    ): ICatcherState | null {
      return version === before.version ? null : { problem: null, version };
    }

    override readonly state: ICatcherState = {
      problem: null,
      version: this.props.version
    };

    override componentDidCatch(
      problem: Error,
      { componentStack }: React.ErrorInfo
    ): void {
      console.error(`HDSP Agent: ${this.props.says}`, problem, componentStack);
    }

    override render(): React.ReactNode {
      const { explain, children } = this.props;
      const { problem } = this.state;
      return problem === null
        ? children
        : explain(problem, () => this.setState({ problem: null }));
    }
  }
}
