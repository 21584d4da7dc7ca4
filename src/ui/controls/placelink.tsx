import * as React from 'react';

import { asErrorBody, errorText } from '../../errors';
import { usePresentPath } from '../renamedpaths';
import { usePanel } from '../services';
import { plainName } from '../texts/visibletext';
import { openPlace } from './openplace';

/**
 * The path of a file, which opens it; or a cell, which is brought into sight.
 * The file may have another name since the message was written that names it.
 */
export function PlaceLink({
  path: named,
  cellId,
  isOutside = false,
  children
}: {
  path: string;
  cellId?: string;

  /** Whether it is where Lab cannot open it. */
  isOutside?: boolean;
  children?: React.ReactNode;
}): JSX.Element {
  const services = usePanel();
  const { documents, trans } = services;
  const path = usePresentPath()(named);
  const [problem, setProblem] = React.useState<string | null>(null);
  const label = children ?? plainName(path);
  if (isOutside || documents === null) {
    return <span className="jp-hdspAgent-place">{label}</span>;
  }
  const open = async () => {
    setProblem(null);
    try {
      if (!(await openPlace(services, path, cellId))) {
        setProblem(trans.__('%1 no longer exists.', plainName(path)));
      }
    } catch (reason) {
      setProblem(errorText(trans, asErrorBody(reason)));
    }
  };
  return (
    <>
      <button
        className="jp-hdspAgent-place jp-hdspAgent-chat-link"
        title={
          cellId
            ? trans.__('Show this cell')
            : trans.__('Open %1', plainName(path))
        }
        onClick={() => void open()}
      >
        {label}
      </button>
      {problem && (
        <span className="jp-hdspAgent-chat-trouble" role="alert">
          {problem}
        </span>
      )}
    </>
  );
}
