import * as React from 'react';

import { VerifyApi } from '../rest/verifyapi';
import { agentIcon } from '../ui/icons/agenticon';
import type { IPanelServices } from '../ui/services';
import { SideWidget } from '../ui/sidewidget';
import { plainName } from '../ui/texts/visibletext';
import { VerifyModel } from './verifymodel';
import { VerifyView } from './verifyview';

/**
 * A tab of the main area in which a notebook is verified, or a report is shown.
 */
export class VerifyWidget extends SideWidget {
  /**
   * @param report - The verification whose report is shown; without it, the
   * notebook is to be verified.
   */
  constructor(
    services: IPanelServices,
    path: string,
    save: VerifyModel.IOptions['save'],
    report?: string
  ) {
    const { serverSettings, trans } = services;
    const name = plainName(path.slice(path.lastIndexOf('/') + 1));
    const api = new VerifyApi(serverSettings);
    const model = new VerifyModel({ api, path, save });
    super({
      services,
      id: `hdsp-agent-verify-${report ?? path}`,
      className: 'jp-hdspAgent-Verify',
      icon: agentIcon,
      caption: path,
      label: trans.__('Verification of %1', name),
      broken: trans.__('The verification could not be shown.'),
      first: 'button',
      Body: () => <VerifyView model={model} />
    });
    this.model = model;
    this.title.label =
      report === undefined
        ? trans.__('Verify: %1', name)
        : trans.__('Report: %1', name);
    this.title.closable = true;
  }

  readonly model: VerifyModel;

  /**
   * Who closes it waits for it no more.
   */
  override dispose(): void {
    if (!this.isDisposed) {
      void this.model.stop();
      this.model.dispose();
    }
    super.dispose();
  }
}
