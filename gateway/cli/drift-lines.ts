import { counted } from '../kit/counted.ts'
import type { DriftList } from '../operations/drift.ts'

type Look = DriftList['bots'][number]

const KIND_TEXT: Record<Look['drift'][number]['kind'], string> = {
  missing: 'MISSING ON STEAM',
  foreign: 'not in the books',
  unnamed: 'indistinguishable from others of the same name',
}

function lookText({ lookedAt, wholeAt, isAsked }: Look): string {
  const pending = isAsked ? ', a check begins within seconds if a gateway holds the bot' : ''
  if (lookedAt === null) return `never checked${pending}`
  const whole = wholeAt === null ? 'never read completely' : `read completely ${wholeAt.toISOString()}`
  const isPart = wholeAt?.getTime() !== lookedAt.getTime()
  return `${whole}${isPart ? `, in part ${lookedAt.toISOString()}` : ''}${pending}`
}

export const driftLines = ({ bots }: DriftList): string[] =>
  bots.flatMap((look) => {
    const { botId, bot, botSteamId, drift, leftOut } = look
    const differing = `${counted(drift.length + leftOut, 'item differs', 'items differ')} from the books`
    return [
      [botId, bot, botSteamId, lookText(look), ...(look.lookedAt === null ? [] : [differing])].join('\t'),
      ...drift.map(({ kind, item, appId, assetId, marketHashName, firstSeenAt, isSure }) => {
        const asset = [`${appId}/${assetId ?? 'no asset id'}`, marketHashName]
        const since = `since ${firstSeenAt.toISOString()}`
        return [
          '',
          isSure ? KIND_TEXT[kind] : `${KIND_TEXT[kind]} (not sure yet)`,
          item ?? '-',
          ...asset,
          since,
        ].join('\t')
      }),
      ...(leftOut > 0
        ? [`\t${counted(leftOut, 'more item that is', 'more items that are')} not in the books`]
        : []),
    ]
  })
