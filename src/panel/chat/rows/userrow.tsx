import * as React from 'react';

import { MessageActions } from '../../changes/messageactions';
import { readAttachments } from '../../../state/panel/attachments';
import type { IAttachment } from '../../../state/panel/panelstate';
import { usePanel } from '../../../ui/services';
import { BoundedText } from '../../../ui/texts/boundedtext';
import { Fold } from '../../../ui/texts/fold';
import { linkedMentions } from './linkedmentions';
import { PictureList } from './picturelist';
import { PlaceLink } from '../../../ui/controls/placelink';
import type { IRowContent } from './rowcontent';

/**
 * What the person said, with what went along.
 */
export function UserRow({ message }: IRowContent): JSX.Element {
  const { trans } = usePanel();
  const { text: said, attachments } = React.useMemo(
    () => readAttachments(message.text ?? ''),
    [message.text]
  );
  // What the button at a failed cell says is said by its chip.
  const text = attachments.some(
    ({ kind, label }) => kind === 'error' && label === said
  )
    ? ''
    : said;
  return (
    <div className="jp-hdspAgent-user">
      <div className="jp-hdspAgent-user-head">
        <span className="jp-hdspAgent-speaker">{trans.__('You')}</span>
        <MessageActions message={message} />
      </div>
      {text && (
        <div className="jp-hdspAgent-user-text" dir="auto">
          <BoundedText
            id={`${message.ts}:text`}
            text={text}
            render={linkedMentions}
          />
        </div>
      )}
      {attachments.length > 0 && (
        <ul
          className="jp-hdspAgent-user-attachments"
          aria-label={trans.__('Attachments')}
        >
          {attachments.map((attachment, index) => (
            <li key={index}>
              <Attachment id={`${message.ts}:${index}`} {...attachment} />
            </li>
          ))}
        </ul>
      )}
      <PictureList images={message.images} />
    </div>
  );
}

function Attachment({
  id,
  path,
  cellId,
  label,
  content
}: IAttachment & { id: string }): JSX.Element {
  return (
    <Fold id={id} summary={label || path}>
      <PlaceLink path={path} cellId={cellId ?? undefined} />
      <pre className="jp-hdspAgent-chat-plain">{content}</pre>
    </Fold>
  );
}
