import * as React from 'react';

import { useSignalValue } from '../ui/hooks';
import type { VariablesModel } from './variablesmodel';

/**
 * The variables that a component shows.
 */
export const VariablesContext = React.createContext<VariablesModel | null>(
  null
);

/**
 * The variables this component shows; it is rendered again when they change.
 */
export function useVariables(): VariablesModel {
  const model = React.useContext(VariablesContext);
  if (model === null) {
    throw new Error('This component is used outside of the variables.');
  }
  return model;
}

/**
 * A value of the variables; the component is rendered again when it is another.
 *
 * @param select - Picks the value. It must return the same object as long as
 * nothing changed.
 */
export function useVariablesValue<T>(select: (model: VariablesModel) => T): T {
  const model = useVariables();
  return useSignalValue(model.changed, () => select(model));
}
