import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import { asErrorBody, errorText } from '../../errors';
import type {
  EmbeddedConversationOffer,
  ErrorBody
} from '../../generated/wire';
import { Notice } from '../../ui/controls/notice';
import { useFrontPath } from '../../ui/notebookchoice';
import { focusComposer } from '../../ui/focuscomposer';
import { plainTitle, quotedTitle } from '../../ui/conversations/opentasks';
import { usePanelState } from '../../ui/hooks';
import { usePanel } from '../../ui/services';
import { useDismissed } from '../../ui/usedismissed';
import { useHasConversation } from './conversationmetadata';

/**
 * Offers the conversation that the chosen notebook carries, if the person does
 * not have it: it came with somebody else's file, or from another machine.
 */
export function ConversationOffer(): JSX.Element | null {
  const { notebooks, state } = usePanel();
  const choice = usePanelState(state, ({ notebookChoice }) => notebookChoice);
  const front = useFrontPath(notebooks);
  const path =
    choice.kind === 'chosen'
      ? choice.path
      : choice.kind === 'front'
        ? front
        : null;
  const isThere = useHasConversation(notebooks, path);
  return isThere && path !== null ? <Offer key={path} path={path} /> : null;
}

function Offer({ path }: { path: string }): JSX.Element | null {
  const { client, node, trans } = usePanel();
  const [offer, setOffer] = React.useState<EmbeddedConversationOffer | null>(
    null
  );
  const [trouble, setTrouble] = React.useState<string | null>(null);
  const [isBusy, setBusy] = React.useState(false);
  React.useEffect(() => {
    let isWanted = true;
    client.request({ type: 'findEmbeddedConversation', path }).then(
      found => {
        if (isWanted) {
          setOffer(found as unknown as EmbeddedConversationOffer | null);
        }
      },
      (reason: unknown) => {
        // What else may be wrong, the panel says elsewhere, or whoever opens it hears.
        if (isWanted) {
          setTrouble(unreadable(trans, asErrorBody(reason)));
        }
      }
    );
    return () => {
      isWanted = false;
    };
  }, [client, path, trans]);
  const text = offer === null ? trouble : offerText(offer, path, trans);
  const [isPutAway, putAway] = useDismissed(
    `conversation:${path}`,
    text ?? undefined
  );
  if (text === null || isPutAway) {
    return null;
  }
  const open = async () => {
    // The button goes with the offer.
    focusComposer(node);
    setBusy(true);
    try {
      await client.request({ type: 'openEmbeddedConversation', path });
    } catch (reason) {
      const error = asErrorBody(reason);
      setTrouble(unreadable(trans, error) ?? errorText(trans, error));
    }
    setBusy(false);
  };
  return (
    <Notice
      role="region"
      aria-label={trans.__('Conversation in this notebook')}
      level="info"
      text={text}
      textRole={offer === null ? 'alert' : 'status'}
      actions={
        offer === null
          ? []
          : [
              {
                label: trans.__('Open a copy'),
                title: trans.__(
                  'You can open a copy and continue it. Other people may have written this conversation.'
                ),
                isBusy,
                onClick: () => void open()
              }
            ]
      }
      onDismiss={putAway}
    >
      {offer !== null && trouble !== null && (
        <p className="jp-hdspAgent-problem" role="alert">
          {trouble}
        </p>
      )}
    </Notice>
  );
}

function offerText(
  { messages, title, leftOut }: EmbeddedConversationOffer,
  path: string,
  trans: TranslationBundle
): string {
  return [
    trans._n(
      'This notebook contains a conversation (%1 message): “%2”.',
      'This notebook contains a conversation (%1 messages): “%2”.',
      messages,
      quotedTitle(title ? plainTitle(title, trans) : path)
    ),
    leftOut > 0 &&
      trans._n(
        'Its oldest message is not in the notebook.',
        'Its %1 oldest messages are not in the notebook.',
        leftOut
      )
  ]
    .filter(Boolean)
    .join(' ');
}

/**
 * Why what the notebook carries is no conversation for us; `null` if that is
 * not what is wrong.
 */
function unreadable(
  trans: TranslationBundle,
  { params }: ErrorBody
): string | null {
  switch (params.why) {
    case 'conversation_newer':
      return trans.__(
        'A newer version of the agent wrote the conversation in this notebook. Update the agent to open it.'
      );
    case 'conversation_too_large':
      return trans.__(
        'The conversation in this notebook is too large to open.'
      );
    case 'conversation_damaged':
      return trans.__(
        'The conversation in this notebook is damaged and cannot be opened.'
      );
    default:
      return null;
  }
}
