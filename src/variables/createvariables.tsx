import * as React from 'react';

import { VariablesApi } from '../rest/variablesapi';
import type { IPanelServices } from '../ui/services';
import { VariablesContext } from './variablescontext';
import { VariablesModel } from './variablesmodel';
import { VariablesView } from './variablesview';

/**
 * Everything of the variables that Lab's start does not wait for.
 */
export interface IVariablesUi {
  readonly model: VariablesModel;
  readonly View: React.ComponentType;
}

/**
 * Make the view of variables.
 *
 * @param isSeen - Whether it is in sight.
 */
export function createVariables(
  { client, notebooks, serverSettings }: IPanelServices,
  isSeen: () => boolean
): IVariablesUi {
  const api = new VariablesApi(serverSettings);
  const model = new VariablesModel({ api, client, notebooks, isSeen });
  return {
    model,
    View: () => (
      <VariablesContext.Provider value={model}>
        <VariablesView />
      </VariablesContext.Provider>
    )
  };
}
