import * as React from 'react';

import type { FoundPlace } from '../conversations/openfound';
import { foundName, openFound } from '../conversations/openfound';
import { asErrorBody, errorText } from '../../errors';
import { usePanel } from '../services';

/**
 * Leads to where something stands that was found.
 */
export function FoundLink({
  place,
  children
}: {
  place: FoundPlace;

  /** What it is called; without it, the name of its place. */
  children?: React.ReactNode;
}): JSX.Element {
  const services = usePanel();
  const { documents, trans } = services;
  const [problem, setProblem] = React.useState<string | null>(null);
  const name = foundName(place, trans);
  const label = children ?? name;
  if (
    place.kind === 'notebook' &&
    (place.path === undefined || documents === null)
  ) {
    // It is where Lab cannot open it.
    return <span className="jp-hdspAgent-place">{label}</span>;
  }
  const open = async () => {
    setProblem(null);
    try {
      if (!(await openFound(services, place))) {
        setProblem(trans.__('%1 no longer exists.', name));
      }
    } catch (reason) {
      setProblem(errorText(trans, asErrorBody(reason)));
    }
  };
  return (
    <>
      <button
        type="button"
        // A title is no path.
        className={`jp-hdspAgent-chat-link${place.kind === 'notebook' ? ' jp-hdspAgent-place' : ''}`}
        onClick={() => void open()}
      >
        {label}
      </button>
      {problem !== null && (
        <span className="jp-hdspAgent-chat-trouble" role="alert">
          {problem}
        </span>
      )}
    </>
  );
}
