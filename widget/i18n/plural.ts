/** English: 1 item, 2 items. */
export const countEn = (n: number, one: string, other: string): string => `${n} ${n === 1 ? one : other}`

const rules = new Intl.PluralRules('ru')

/** Russian has three forms for whole numbers: 1 предмет, 2 предмета, 5 предметов. */
type FormsRu = [one: string, few: string, many: string]

export function countRu(n: number, ...[one, few, many]: FormsRu): string {
  const form = rules.select(n)
  if (form === 'one') return `${n} ${one}`
  return `${n} ${form === 'few' ? few : many}`
}

/** The verb agrees with a feminine word: осталась 1 минута, осталось 5 минут. */
export function remainingRu(n: number, ...forms: FormsRu): string {
  return `${rules.select(n) === 'one' ? 'Осталась' : 'Осталось'} ${countRu(n, ...forms)}`
}
