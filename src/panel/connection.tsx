import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import type { ChannelClient } from '../comm/client';
import type { ConnectionPhase, IConnectionStatus } from '../comm/status';
import { errorText } from '../errors';
import { whole } from '../ui/texts/formats';
import { Notice } from '../ui/controls/notice';
import { phaseLabel } from '../ui/controls/connectionstate';
import { useLasting, useSecondsUntil } from '../ui/hooks';

/**
 * A loss that is over sooner is not worth a banner that moves everything.
 */
const BANNER_DELAY = 800;

/**
 * What is read aloud when the connection changes: no countdown, and no reason
 * while it may come back by itself.
 */
export function announcement(
  status: IConnectionStatus,
  trans: TranslationBundle
): string {
  const label = phaseLabel(status.phase, trans);
  const settled = status.phase === 'offline' || status.phase === 'refused';
  return settled
    ? trans.__('HDSP Agent: %1. %2', label, whatIsWrong(status, trans))
    : trans.__('HDSP Agent: %1', label);
}

/**
 * Says why there is no connection, what happens next, and what one can do.
 */
export function ConnectionBanner({
  status,
  client,
  actions,
  trans
}: ConnectionBanner.IProps): JSX.Element | null {
  const { phase, reason } = status;
  const trouble = phase !== 'open' && reason !== null;
  const lasting = useLasting(trouble, BANNER_DELAY);
  const seconds = useSecondsUntil(status.retryAt);
  if (!trouble || (!lasting && phase === 'reconnecting')) {
    return null;
  }
  return (
    <Notice
      role="region"
      aria-label={trans.__('Connection')}
      data-reason={reason}
      level={
        reason === 'version_mismatch' || reason === 'closed'
          ? 'error'
          : 'warning'
      }
      text={[whatIsWrong(status, trans), whatComesNext(phase, seconds, trans)]
        .filter(Boolean)
        .join(' ')}
      actions={actionsOn(reason, client, actions, trans)}
    />
  );
}

/**
 * The namespace for `ConnectionBanner` statics.
 */
export namespace ConnectionBanner {
  /**
   * What a banner's buttons do beyond trying again.
   */
  export interface IActions {
    /**
     * Load the page anew.
     */
    readonly reload: () => void;

    /**
     * Open the log-in page beside this one.
     */
    readonly logIn: () => void;
  }

  /**
   * The properties of a connection banner.
   */
  export interface IProps {
    readonly status: IConnectionStatus;
    readonly client: Pick<ChannelClient, 'connect'>;
    readonly actions: IActions;
    readonly trans: TranslationBundle;
  }
}

/**
 * What one can do about it: without a connection the agent does nothing.
 */
function actionsOn(
  reason: IConnectionStatus['reason'],
  client: ConnectionBanner.IProps['client'],
  { logIn, reload }: ConnectionBanner.IActions,
  trans: TranslationBundle
): readonly Notice.IAction[] {
  const retry = {
    label: trans.__('Try now'),
    onClick: () => client.connect()
  };
  switch (reason) {
    case 'version_mismatch':
      return [{ label: trans.__('Reload'), onClick: reload }];
    case 'login_expired':
      return [
        {
          label: trans.__('Log in'),
          title: trans.__('Open the login page'),
          onClick: logIn
        },
        retry
      ];
    default:
      return [retry];
  }
}

function whatIsWrong(
  { reason, pageVersion, serverVersion, refusal }: IConnectionStatus,
  trans: TranslationBundle
): string {
  switch (reason) {
    case 'version_mismatch':
      return trans.__(
        'HDSP Agent was updated: this page is %1, the server %2. Save your work, then reload the page.',
        pageVersion,
        serverVersion ?? '?'
      );
    case 'login_expired':
      return trans.__(
        'Your login may have expired. Log in again in another tab, then try again.'
      );
    case 'extension_missing':
      return trans.__(
        'The server part of HDSP Agent is not running. Enable it with “%1”, then restart the server.',
        'jupyter server extension enable hdsp_agent'
      );
    case 'socket_blocked':
      return trans.__(
        'The server answers, but WebSockets do not get through. A proxy or firewall may block them. Ask your administrator.'
      );
    case 'closed':
      return trans.__(
        'The server closed the connection: %1',
        refusal ? errorText(trans, refusal) : ''
      );
    case 'network':
      return trans.__(
        'The server cannot be reached. It may be stopped, or the network down.'
      );
    case 'lost':
    case null:
      return trans.__('Connection lost. Your work on the server continues.');
  }
}

function whatComesNext(
  phase: ConnectionPhase,
  seconds: number | null,
  trans: TranslationBundle
): string {
  if (phase === 'refused') {
    return '';
  }
  return seconds === null
    ? trans.__('Trying again…')
    : whole(trans.__('Retrying in %1 s.', seconds));
}
