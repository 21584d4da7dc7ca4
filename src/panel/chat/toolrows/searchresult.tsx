import { searchIcon } from '@jupyterlab/ui-components';
import * as React from 'react';

import type {
  ClineMessage,
  CodebaseSearchResult,
  SearchHit
} from '../../../generated/wire';
import { FoundLink } from '../../../ui/controls/foundlink';
import { PlaceLink } from '../../../ui/controls/placelink';
import { usePanel } from '../../../ui/services';
import { BoundedText } from '../../../ui/texts/boundedtext';
import { Fold } from '../../../ui/texts/fold';
import { dateTimeText } from '../../../ui/texts/formats';
import { Marked } from '../../../ui/texts/marked';
import { readJson } from '../../../ui/texts/readjson';
import { plainName } from '../../../ui/texts/visibletext';
import type { IRowContent } from '../rows/rowcontent';
import { RowHead } from '../rows/rowhead';

/**
 * What a search found, where the search itself is not here.
 */
export function SearchResultRow({
  message,
  parts: _
}: IRowContent): JSX.Element {
  const { trans } = usePanel();
  const query = React.useMemo(
    () => readResult(message)?.content?.query,
    [message]
  );
  return (
    <div className="jp-hdspAgent-chat-tool">
      <RowHead icon={searchIcon} words={trans.__('Search results')}>
        {query && (
          <code className="jp-hdspAgent-chat-tool-sought">{query}</code>
        )}
      </RowHead>
      <SearchResult message={message} />
    </div>
  );
}

/**
 * How much a search found, and where.
 */
export function SearchResult({
  message
}: {
  message: ClineMessage;
}): JSX.Element {
  const { trans } = usePanel();
  const hits = React.useMemo(
    () => readResult(message)?.content?.results,
    [message]
  );
  if (!Array.isArray(hits)) {
    // Another version wrote it.
    return (
      <div className="jp-hdspAgent-chat-tool-text">
        <BoundedText id={`${message.ts}:text`} text={message.text ?? ''} />
      </div>
    );
  }
  if (hits.length === 0) {
    return (
      <div className="jp-hdspAgent-chat-tool-text">
        {trans.__('Nothing was found.')}
      </div>
    );
  }
  return (
    <Fold
      id={`${message.ts}:hits`}
      summary={trans._n('%1 passage found', '%1 passages found', hits.length)}
    >
      <ul className="jp-hdspAgent-chat-hits">
        {hits.map((hit, index) => (
          <li key={index}>
            <Hit hit={hit} />
          </li>
        ))}
      </ul>
    </Fold>
  );
}

function Hit({ hit }: { hit: SearchHit }): JSX.Element {
  const { trans } = usePanel();
  const { filePath, codeChunk, snippet, author, ts } = hit;
  const { kind, source, place, path } = hit;
  const parts = snippet ?? [{ text: codeChunk, found: false }];
  return (
    <>
      <div className="jp-hdspAgent-chat-hit-head">
        {kind !== undefined && source !== undefined ? (
          <FoundLink
            place={{ kind, source, path, title: filePath, place: place ?? '' }}
          />
        ) : (
          <PlaceLink path={filePath}>
            {trans.__('%1, from line %2', plainName(filePath), hit.startLine)}
          </PlaceLink>
        )}
        {kind === 'notebook' && <span>{trans.__('Cell')}</span>}
        {author !== undefined && (
          <span>
            {author === 'person' ? trans.__('You') : trans.__('Agent')}
          </span>
        )}
        {ts !== undefined && <span>{dateTimeText(ts)}</span>}
      </div>
      <div className="jp-hdspAgent-chat-hit-text" dir="auto">
        <Marked parts={parts} />
      </div>
    </>
  );
}

/**
 * The text of the message, any part of which another version may have left out.
 */
function readResult({ text }: ClineMessage): {
  readonly content?: Partial<CodebaseSearchResult['content']>;
} | null {
  return readJson<CodebaseSearchResult>(text);
}
