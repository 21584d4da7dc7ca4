import type {
  LocalModelList,
  LocalModelView,
  LocalRuntimeView
} from '../../../generated/rest';

/** The model that is offered, as the server lists it. */
export function aModel(change: Partial<LocalModelView> = {}): LocalModelView {
  return {
    id: 'coder',
    name: 'Coder 0.5B',
    isDefault: true,
    parameters: 494_000_000,
    quantization: 'Q4_K_M',
    size: 491_400_064,
    memory: 850_000_000,
    context: 8192,
    output: 2048,
    licence: 'Apache-2.0',
    licenceUrl: 'https://example.org/licence',
    state: 'absent',
    done: 0,
    ...change
  };
}

/** What the server says of its embedded models. */
export function embedded(
  model: Partial<LocalModelView> = {},
  change: Partial<LocalModelList> = {},
  runtime: Partial<LocalRuntimeView> = {}
): LocalModelList {
  return {
    allowed: true,
    installed: true,
    folder: '/models',
    free: 60_000_000_000,
    freeMemory: 4_000_000_000,
    models: [aModel(model)],
    runtime: { state: 'stopped', waiting: 0, ...runtime },
    ...change
  };
}
