import { counted } from '../kit/counted.ts'

type Answers = { protectionAcknowledged: boolean; areOffersListed: boolean }

/** Returns all notices about a bot that was just added, or approved again; empty if there are none. */
export const noticeOf = (bot: Answers & { ownHoldDays: number | null }): string =>
  answersNotice(bot) + holdNotice(bot.ownHoldDays)

/** Returns a notice if Steam's answers leave a doubt about a bot with a new token; otherwise an empty text. */
export function answersNotice({ protectionAcknowledged, areOffersListed }: Answers): string {
  const offers = areOffersListed ? '' : ' Steam’s answers about its offers were empty, so they prove nothing.'
  if (protectionAcknowledged) return offers
  return `${offers} Steam did not accept the acknowledgement about trade protection; the gateway will try again.`
}

/**
 * Returns a notice about a bot that was just added; empty if Steam would hold no trade. `days`: how long Steam would
 * hold a trade because of the bot; null if that was not checked.
 */
function holdNotice(days: number | null): string {
  if (days === null)
    return ' Whether Steam would hold its trades was not checked: bot enrol and bot add do that with --check-with.'
  if (days === 0) return ''
  return ` It gets no trades yet: Steam would hold them for ${counted(days, 'day')}. Its mobile authenticator must have been on for 7 days.`
}
