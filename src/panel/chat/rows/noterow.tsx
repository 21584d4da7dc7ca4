import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import type { ClineMessage } from '../../../generated/wire';
import { usePanel } from '../../../ui/services';
import { BoundedText } from '../../../ui/texts/boundedtext';
import { Fold } from '../../../ui/texts/fold';
import { PictureList } from './picturelist';
import { readJson } from '../../../ui/texts/readjson';
import type { IRowContent } from './rowcontent';

/**
 * Something that happened, in a line; also what this version has no row for.
 */
export function NoteRow({ message, parts: _ }: IRowContent): JSX.Element {
  const { trans } = usePanel();
  const text = message.text ?? '';
  const fields = React.useMemo(() => fieldsOf(text), [text]);
  const label = labelOf(message, trans);
  return (
    <div className="jp-hdspAgent-chat-note">
      {label && <div className="jp-hdspAgent-chat-note-label">{label}</div>}
      {fields === null && text && (
        <div className="jp-hdspAgent-chat-note-text">
          <BoundedText id={`${message.ts}:text`} text={text} />
        </div>
      )}
      {fields !== null && fields.length > 0 && (
        <Fold id={`${message.ts}:fields`} summary={trans.__('Details')}>
          <dl className="jp-hdspAgent-details">
            {fields.map(([name, value]) => (
              <React.Fragment key={name}>
                <dt>{name}</dt>
                <dd>{value}</dd>
              </React.Fragment>
            ))}
          </dl>
        </Fold>
      )}
      <PictureList images={message.images} />
    </div>
  );
}

/**
 * Pictures.
 */
export function ImageRow({ message, parts: _ }: IRowContent): JSX.Element {
  const inText = message.text?.startsWith('data:image/') ? [message.text] : [];
  return <PictureList images={[...inText, ...(message.images ?? [])]} />;
}

function labelOf(
  { ask, say }: ClineMessage,
  trans: TranslationBundle
): string | null {
  switch (ask ?? say) {
    case 'shell_integration_warning':
      return trans.__(
        'Shell integration is unavailable; the command runs without it.'
      );
    case 'browser_action':
    case 'browser_action_result':
    case 'browser_action_launch':
      return trans.__('An older version used a browser here.');
    default:
      return null;
  }
}

/**
 * What is in a text of JSON, as names and values; `null` if it is none.
 */
function fieldsOf(text: string): [name: string, value: string][] | null {
  const value = readJson<Record<string, unknown>>(text);
  return (
    value &&
    Object.entries(value).map(([name, value]) => [
      name,
      typeof value === 'string' ? value : plain(value)
    ])
  );
}

function plain(value: unknown): string {
  if (Array.isArray(value)) {
    return value.map(plain).join(', ');
  }
  if (value !== null && typeof value === 'object') {
    return Object.entries(value)
      .map(([name, value]) => `${name}: ${plain(value)}`)
      .join('; ');
  }
  return String(value);
}
