/** How a person reads what is not as the books say. */
import type { DriftList } from '../operations/drift.ts'

type Look = DriftList['bots'][number]

const SAYS: Record<Look['drift'][number]['kind'], string> = {
  missing: 'MISSING ON STEAM',
  foreign: 'not in the books',
  unnamed: 'cannot be told from others of its name',
}

function lookText({ lookedAt, wholeAt, isAsked }: Look): string {
  const asked = isAsked ? ', a look begins within seconds' : ''
  if (lookedAt === null) return `never looked at${asked}`
  const whole = wholeAt === null ? 'never seen whole' : `seen whole ${wholeAt.toISOString()}`
  const isPart = wholeAt?.getTime() !== lookedAt.getTime()
  return `${whole}${isPart ? `, in part ${lookedAt.toISOString()}` : ''}${asked}`
}

export const driftLines = ({ bots }: DriftList): string[] =>
  bots.flatMap((look) => {
    const { botId, bot, botSteamId, drift, leftOut } = look
    const counted = drift.length + leftOut
    return [
      [botId, bot, botSteamId, lookText(look), `${counted} not as the books say`].join('\t'),
      ...drift.map(({ kind, item, appId, assetId, marketHashName, firstSeenAt, isSure }) => {
        const of = [`${appId}/${assetId ?? 'no asset id'}`, marketHashName]
        const since = `since ${firstSeenAt.toISOString()}`
        return ['', isSure ? SAYS[kind] : `${SAYS[kind]} (not sure yet)`, item ?? '-', ...of, since].join(
          '\t',
        )
      }),
      ...(leftOut > 0 ? [`\t${leftOut} further items that are not in the books`] : []),
    ]
  })
