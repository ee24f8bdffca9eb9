/** Matches each address of Steam's trade page, up to the next space or one of `<>"'«»()`. */
const ADDRESSES =
  /(?<![\w.@-])(?:https?:\/\/)?(?:www\.)?steamcommunity\.com\/tradeoffer\/new\/?\?[^\s<>"'«»()]+/gi

const MARKS_AFTER_A_LINK = '.,;:!?…'

function withoutMarksAfter(text: string): string {
  let end = text.length
  while (end > 0 && MARKS_AFTER_A_LINK.includes(text.charAt(end - 1))) end -= 1
  return text.slice(0, end)
}

/** Returns the link of an address; undefined without a valid account and token. Other parameters are ignored. */
function linkOf(address: string): string | undefined {
  const query = withoutMarksAfter(address.slice(address.indexOf('?') + 1))
  const parameters = new URLSearchParams(query.replaceAll('&amp;', '&'))
  const [partner = '', token = ''] = ['partner', 'token'].map((name) => parameters.get(name) ?? '')
  if (!/^\d+$/.test(partner) || !/^[A-Za-z0-9_-]{3,}$/.test(token)) return undefined
  return `https://steamcommunity.com/tradeoffer/new/?partner=${partner}&token=${token}`
}

/** Returns every trade link in a text, each once, in the form that the field takes. */
export function linksIn(text: string): Set<string> {
  return new Set((text.match(ADDRESSES) ?? []).flatMap((address) => linkOf(address) ?? []))
}

/** Returns the only trade link in a text, in the form that the field takes; undefined for none or several. */
export function tradeLinkIn(text: string): string | undefined {
  const links = linksIn(text)
  return links.size === 1 ? [...links][0] : undefined
}
