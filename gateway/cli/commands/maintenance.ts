import { buildRouteMap } from '@stricli/core'
import { moment, text } from '../arguments.ts'
import { ACT, type ActFlags, command } from '../command.ts'
import type { Session } from '../session.ts'

type OnFlags = ActFlags & { text?: string; textRu?: string; for?: string; until?: Date }

const TEXT = { kind: 'parsed', parse: text, placeholder: 'TEXT', optional: true } as const

const on = command({
  does: 'stop new trades and pause the countdown of deposits without an offer; if maintenance is on, change its notice and its end',
  example:
    "maintenance on --for 45m --text 'We are moving to a new server.' --text-ru 'Мы переезжаем на новый сервер.'",
  parameters: {
    flags: {
      text: { ...TEXT, brief: 'the notice to shoppers in English; needs --text-ru' },
      textRu: { ...TEXT, brief: 'the notice in Russian; needs --text' },
      for: {
        kind: 'parsed',
        parse: text,
        brief:
          'how long it lasts: a whole number and s, m, h or d, such as 45m; default: until it is turned off',
        placeholder: 'DURATION',
        optional: true,
      },
      until: {
        kind: 'parsed',
        parse: moment,
        brief: 'instead of --for: when it ends, such as 2026-11-26T04:00Z',
        placeholder: 'TIME',
        optional: true,
      },
      ...ACT,
    },
  },
  load: async () => {
    const { switchMaintenanceOn } = await import('../../operations/maintenance.ts')
    return async (session: Session, { text: en, textRu: ru, for: lasts, until, ...flags }: OnFlags) =>
      switchMaintenanceOn(await session.actDeps(flags), { text: { en, ru }, lasts, until })
  },
})

const off = command({
  does: 'end maintenance: new trades can begin again, and the countdown of deposits resumes',
  example: 'maintenance off',
  parameters: { flags: ACT },
  load: async () => {
    const { switchMaintenanceOff } = await import('../../operations/maintenance.ts')
    return async (session: Session, flags: ActFlags) => switchMaintenanceOff(await session.actDeps(flags))
  },
})

export const maintenance = buildRouteMap({ routes: { on, off }, docs: { brief: 'maintenance of the till' } })
