import * as React from 'react';

import { MessageActions } from '../../changes/messageactions';
import { saidIn } from '../../../state/panel/attachments';
import type { IAttachment } from '../../../state/panel/panelstate';
import { CommandIDs } from '../../../ui/commandids';
import { openConversation } from '../../../ui/conversations/openconversation';
import { useStore } from '../../../ui/hooks';
import { usePanel } from '../../../ui/services';
import { plainName } from '../../../ui/texts/visibletext';
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
    () => saidIn(message),
    [message]
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
  ...attachment
}: IAttachment & { id: string }): JSX.Element {
  const { kind, path, cellId, label, content } = attachment;
  if (content === null) {
    return <ReadLater {...attachment} />;
  }
  return (
    <Fold id={id} summary={plainName(label || path)}>
      {kind !== 'terminal' && (
        <PlaceLink path={path} cellId={cellId ?? undefined} />
      )}
      <pre className="jp-hdspAgent-chat-plain">{content}</pre>
    </Fold>
  );
}

/**
 * What the server read for the message; it opens where it is.
 */
function ReadLater({ kind, path, label }: IAttachment): JSX.Element {
  const services = usePanel();
  const { commands, store, trans } = services;
  const name = plainName(label || path);
  const taskId = useStore(store, ({ state }) => state?.currentTaskId ?? null);
  if (kind === 'page') {
    return (
      <a
        className="jp-hdspAgent-chat-link"
        href={isWebAddress(path) ? path : undefined}
        target="_blank"
        rel="noopener noreferrer"
      >
        {name}
      </a>
    );
  }
  const open =
    kind === 'conversation'
      ? () => openConversation(services, path)
      : kind === 'checkpoint' && commands.hasCommand(CommandIDs.openTimeline)
        ? () =>
            void commands.execute(CommandIDs.openTimeline, {
              taskId,
              checkpoint: path,
              against: 'now'
            })
        : null;
  return open ? (
    <button
      type="button"
      className="jp-hdspAgent-chat-link"
      title={
        kind === 'conversation'
          ? trans.__('Open this conversation')
          : trans.__('Show this checkpoint')
      }
      onClick={open}
    >
      {name}
    </button>
  ) : (
    <span>{name}</span>
  );
}

function isWebAddress(address: string): boolean {
  return /^https?:\/\//i.test(address);
}
