import * as React from 'react';

import type { ErrorBody } from '../../generated/wire';
import { ApprovalMenu } from '../asks/approval/approvalmenu';
import { AttachButton } from './attachments/attachbutton';
import type { IEnhancing } from './enhance';
import { EnhanceButton } from './enhance';
import { sendIcon } from './composericons';
import { ModelPicker } from './choices/modelpicker';
import { ModePicker } from './choices/modepicker';
import { StopButton } from './stopbutton';

/**
 * What is below the field: what goes along, how the agent works, and what is
 * done with what is typed.
 */
export function ComposerBar({
  enhancing,
  isOurs,
  isOffline,
  canEnhance,
  canSend,
  sendLabel,
  blockedReason,
  onSend,
  onFiles,
  onRefused,
  onFailed
}: {
  readonly enhancing: IEnhancing;

  /**
   * Whether it is a conversation of our own agent: the model and the mode of
   * another one are its own.
   */
  readonly isOurs: boolean;
  readonly isOffline: boolean;
  readonly canEnhance: boolean;
  readonly canSend: boolean;

  /**
   * What sending does.
   */
  readonly sendLabel: string;

  /**
   * Why nothing can be sent; none if something can.
   */
  readonly blockedReason: string | undefined;
  readonly onSend: () => void;
  readonly onFiles: (files: readonly File[]) => void;

  /**
   * Told in words why something was not attached.
   */
  readonly onRefused: (refusal: string) => void;
  readonly onFailed: (error: ErrorBody) => void;
}): JSX.Element {
  return (
    <div className="jp-hdspAgent-composer-bar">
      <AttachButton onRefused={onRefused} onFiles={onFiles} />
      {isOurs && (
        <>
          <ModePicker isOffline={isOffline} onFailed={onFailed} />
          <ModelPicker isOffline={isOffline} onFailed={onFailed} />
        </>
      )}
      <ApprovalMenu isOffline={isOffline} />
      <span className="jp-hdspAgent-composer-actions">
        {isOurs && (
          <EnhanceButton
            enhancing={enhancing}
            isDisabled={!canEnhance}
            blockedReason={blockedReason}
          />
        )}
        <StopButton onFailed={onFailed} />
        <button
          type="button"
          className="jp-hdspAgent-button jp-mod-accept jp-hdspAgent-composer-send"
          aria-label={sendLabel}
          disabled={!canSend}
          title={blockedReason ?? sendLabel}
          onClick={onSend}
        >
          <sendIcon.react tag="span" aria-hidden="true" />
        </button>
      </span>
    </div>
  );
}
