import type { ConfigAnswer } from '../config.ts'
import { unknownSettingText } from '../unknown-settings.ts'
import { type Finding, good, mend } from './finding.ts'

const NEEDED_NODE = 24
const LEAST_FREE_BYTES = 1_000_000_000

export function settingsFindings(answer: ConfigAnswer): Finding[] {
  if (answer.kind === 'refused') {
    return answer.problems.map((problem) => {
      const [name = '', ...rest] = problem.split(' ')
      return mend('settings', problem, rest.length > 0 ? `change ${name}` : 'see docs/operating.md')
    })
  }
  const { config } = answer
  const mode =
    config.mode === 'live'
      ? good('mode', 'live: real items')
      : mend(
          'mode',
          'sandbox: nothing is real',
          'set TRADETILL_MODE=live, and the settings that live mode needs',
        )
  const unknown = config.unknownSettings.map((setting) =>
    mend(
      'settings.unknown',
      `nothing reads ${unknownSettingText(setting)}`,
      `correct or unset ${setting.name}`,
    ),
  )
  return [good('settings', 'all are valid and consistent'), ...unknown, mode]
}

export type Machine = { node: string; freeBytes: number; folder: string }

export function machineFindings({ node, freeBytes, folder }: Machine): Finding[] {
  const isNewEnough = Number(node.split('.')[0]) >= NEEDED_NODE
  const free = `${(freeBytes / 1_000_000_000).toFixed(1)} GB are free in ${folder}`
  return [
    isNewEnough
      ? good('node', `Node ${node}`)
      : mend('node', `Node ${node}`, `install Node ${NEEDED_NODE} or newer`),
    freeBytes >= LEAST_FREE_BYTES
      ? good('disk', free)
      : mend('disk', free, 'make room: the log and the database stop when the disk is full'),
  ]
}
