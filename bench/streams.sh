# streams.sh - sourced: the real streams of $data, where they are, as files of "time TAB key" in $streams,
# 80,000 records each; their names become the arguments.
streams=$(mktemp -d)
trap 'rm -rf "$streams"' EXIT

# $1: a file of the data; the program turns its records into "time TAB key".
take() {
    [ -f "$data/$1" ] && command -v xz > /dev/null || return 0
    xz -dc "$data/$1" | awk -F "$2" "$3" | sort -s -n -k1,1 | head -"${RECORDS:-80000}" > "$streams/$4"
}

take cran_2014w51_arrival.tsv.xz '\t' '!/^#/ { print $1 "\t" $2 " " $3 " " $4 }' cran
take hn_polls_2020-11_2021-06.tsv.xz '\t' '!/^#/ { print $1 "\t" $3 }' hn
take email-Eu.tsv.xz '\t' '!/^#/ { print $1 "\t" $2 }' email
take contact-high-school.tsv.xz '\t' '!/^#/ { print $1 "\t" $2 }' contact
take CollegeMsg.txt.xz ' ' '{ print $3 "\t" $1 " " $2 }' college
take talkingdata_train_sample.csv.xz ',' 'NR > 1 { t = $6; gsub(/[-:]/, " ", t); print mktime(t) "\t" $1 " " $2 " " $5 }' talkingdata
set -- "$streams"/*
[ -e "$1" ] || shift
