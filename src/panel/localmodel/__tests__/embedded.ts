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
    ability: 'small',
    file: 'coder.gguf',
    sha256: '1d96',
    isOffered: true,
    isAdded: false,
    offeredFrom: 0,
    size: 491_400_064,
    memory: 850_000_000,
    context: 8192,
    longestContext: 32768,
    output: 2048,
    sources: [
      {
        kind: 'hub',
        address: 'https://hub.example',
        repository: 'ada/coder-GGUF',
        revision: '0123456789',
        file: 'coder.gguf'
      },
      {
        kind: 'packages',
        package: 'coder-part{n}',
        version: '1.0',
        member: 'coder_part{n}/part{nn}.bin',
        count: 6,
        partSize: 89_128_960
      }
    ],
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
    othersAllowed: true,
    installed: true,
    folder: '/models',
    free: 60_000_000_000,
    freeMemory: 4_000_000_000,
    models: [aModel(model)],
    runtime: { state: 'stopped', waiting: 0, ...runtime },
    ...change
  };
}
