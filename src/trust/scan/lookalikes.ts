/** Letters of other scripts that pass for Latin ones: the part of UTS 39 that deceives in English text. */

/** Each letter before the Latin one that it passes for. */
const PAIRS = [
  'аaеeоoрpсcуyхxіiјjѕsһhԁdԛqԝwӏlѵvґrгrпnкkмmтtнhвb',
  'АAВBЕEКKМMНHОOРPСCТTХXЅSІIЈJУYҮYԚQԜWѴVӀIГr',
  'αaοoνvρpιiκkυuχxτtεeγyηnωwσoϲcϳj',
  'ΑAΒBΕEΖZΗHΙIΚKΜMΝNΟOΡPΤTΥYΧX',
  'օoսuոnցgհhզqաwԱUՏSՕO',
  'ᎪAᎬEᎻHᎳWᏚSᎡRᎢTᏀGᏟCᏢPᏦKᎷMᏙVᏃZᏞLᎫJᏴBᎠDᎥi',
];
const LATIN_OF: ReadonlyMap<string, string> = new Map(
  PAIRS.flatMap((pairs) =>
    Array.from({ length: pairs.length / 2 }, (_, at): [string, string] => [
      pairs[2 * at]!,
      pairs[2 * at + 1]!,
    ]),
  ),
);
/** Those of the same shape at every size: a longer word of nothing else is no word of its own script. */
const SAME_SHAPE = /^[аеорсухіјѕһԁԛԝӏѵАВЕКМНОРСТХЅІЈᎪᎬᎻᎳᏚᎡᎢᏀᏟᏢᏦᎷᏙᏃᏞᎫᏴᎠ]{4,}$/;
const OTHER_SCRIPT = /[\u0370-\u052f\u0531-\u058f\u13a0-\u13f5]/;
const OTHER_LETTERS = /[\u0370-\u052f\u0531-\u058f\u13a0-\u13f5]/g;
const WORD = /[\p{L}\p{M}]+/gu;

/** A word in which other letters pass for Latin ones. */
export interface Disguised {
  start: number;
  end: number;
  latin: string;
}

/** Words that mix Latin letters with others that all pass for Latin ones, and words of nothing but such letters. */
export function disguisedWords(text: string): Disguised[] {
  if (!OTHER_SCRIPT.test(text)) return [];
  const found: Disguised[] = [];
  for (const { 0: word, index } of text.matchAll(WORD)) {
    if (!OTHER_SCRIPT.test(word)) continue;
    const isMixed =
      /[A-Za-z]/.test(word) && (word.match(OTHER_LETTERS) ?? []).every((one) => LATIN_OF.has(one));
    if (!isMixed && !SAME_SHAPE.test(word)) continue;
    const latin = word.replace(OTHER_LETTERS, (letter) => LATIN_OF.get(letter) ?? letter);
    found.push({ start: index, end: index + word.length, latin });
  }
  return found;
}
