import type { Examination } from '../../doctor/doctor.ts'
import { command, FIND, type FindFlags } from '../command.ts'
import type { Session } from '../session.ts'

const MARKS = { good: 'good       ', mend: 'TO FIX     ', not_checked: 'not checked' } as const

const doctorLines = ({ findings, toMend, notChecked }: Examination): string[] => [
  ...findings
    .map(({ check, state, says, advice }) => {
      const line = `${MARKS[state]}  ${check}: ${says}`
      return advice === null ? line : `${line}\n             -> ${advice}`
    })
    .flatMap((text) => text.split('\n')),
  `${findings.length - toMend - notChecked} good, ${toMend} to fix, ${notChecked} not checked.`,
]

export const doctor = command({
  does: 'check everything that a till needs, from settings to alerts; exit code 1: something needs fixing',
  example: 'doctor --send-webhooks',
  parameters: {
    flags: {
      ...FIND,
      sendWebhooks: {
        kind: 'boolean',
        brief: 'send a test event to each enabled webhook, and a test to the receiver of alerts',
        optional: true,
        withNegated: false,
      },
    },
  },
  load: async () => {
    const [{ examine }, { settingsToExamine }] = await Promise.all([
      import('../../doctor/doctor.ts'),
      import('../settings.ts'),
    ])
    return async (session: Session, { sendWebhooks = false }: FindFlags & { sendWebhooks?: boolean }) =>
      examine({ settings: settingsToExamine(session.env), sendsWebhooks: sendWebhooks })
  },
  lines: doctorLines,
})
